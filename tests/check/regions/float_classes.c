#include <math.h>
static double mine(double v) { return isnan(v) ? 0 : v > 1e300 ? INFINITY : v; }

void classes(int n, double *restrict a, float *restrict b)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        a[i] = isnan(a[i]) ? INFINITY : isinf(a[i]) ? -HUGE_VAL : isfinite(b[i]) ? a[i] + isnormal(b[i]) : mine(a[i]);
        b[i] = __builtin_expect(i % 3 == 0, 0) ? HUGE_VALF : b[i] * 1e30f;
    }
#pragma endscop
}

void least(int n, int m, const double a[restrict n][m], double low[restrict n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        low[i] = INFINITY;
        for (int j = 0; j < m; j++)
            low[i] = fmin(low[i], a[i][j]);
    }
#pragma endscop
}

static double known(double v) { return signbit(v) ? NAN : v; }

void unknowns(int n, double *restrict a, float *restrict b)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        a[i] = isunordered(a[i], b[i]) ? nan("") : isless(b[i], 0.25f) ? NAN : known(a[i]);
        b[i] = signbit(b[i]) ? nanf("") : fpclassify(b[i]) == FP_NORMAL ? b[i] : -NAN;
    }
#pragma endscop
}
