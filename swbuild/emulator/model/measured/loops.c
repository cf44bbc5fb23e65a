/* Loops of the kinds that listings of the vendor's compiler show, written anew: the figures of those listings
 * are in loops_sw5cc.csv, and loops.s is what the stand-ins cost of this file (compiled_loops.py renews it). */
typedef double vector __attribute__((vector_size(32)));
typedef long integers __attribute__((vector_size(32)));
#define N 4096
double a[N] __attribute__((aligned(32))), b[N] __attribute__((aligned(32))), c[N] __attribute__((aligned(32)));
double sum[64], least[64], most[64];
long from[N], to[N];
int ints[N], limit;

void fill_three(void) { for (int i = 0; i < N; i++) { a[i] = 1; b[i] = 2; c[i] = 0; } }

void twice(void) { for (int i = 0; i < N; i++) a[i] = 2 * a[i]; }

void copy_eight(void)
{
    vector *x = (vector *)a, *y = (vector *)c;
    for (int i = 0; i < N / 4; i += 8) {
        y[i] = x[i]; y[i + 1] = x[i + 1]; y[i + 2] = x[i + 2]; y[i + 3] = x[i + 3];
        y[i + 4] = x[i + 4]; y[i + 5] = x[i + 5]; y[i + 6] = x[i + 6]; y[i + 7] = x[i + 7];
    }
}

void scale(vector s) { for (int i = 0; i < N; i += 4) *(vector *)(b + i) = *(vector *)(c + i) * s; }

void add(void) { for (int i = 0; i < N; i += 4) *(vector *)(c + i) = *(vector *)(a + i) + *(vector *)(b + i); }

void triad(vector s)
{
    for (int i = 0; i < N; i += 4)
        *(vector *)(a + i) = *(vector *)(b + i) + *(vector *)(c + i) * s;
}

double errors(double x, double y, double z)
{
    double p = 0, q = 0, r = 0;
    for (int i = 0; i < N; i++) {
        p += __builtin_fabs(a[i] - x);
        q += __builtin_fabs(b[i] - y);
        r += __builtin_fabs(c[i] - z);
    }
    return p + q + r;
}

int far_off(double x, double most_off)
{
    int count = 0;
    for (int i = 0; i < N; i++)
        count += __builtin_fabs(b[i] / x - 1) > most_off;
    return count;
}

void extremes(const double *times, int n)
{
    for (int j = 0; j < n; j++) {
        double t = times[3 * j], low = least[j], high = most[j];
        sum[j] += t;
        least[j] = low < t ? low : t;
        most[j] = high > t ? high : t;
    }
}

int least_step(double factor)
{
    int found = limit;
    for (int i = 1; i < N; i++) {
        int step = (int)(factor * (a[i] - a[i - 1]));
        step = step > 0 ? step : 0;
        found = step < found ? step : found;
    }
    return found;
}

vector divide_in_software(vector x, vector number, vector one, integers magic, int n)
{
    integers bits = magic - (integers)number;
    vector d = (vector)bits;
    for (int i = 0; i < n; i++) {
        vector y = d * number - one, q = d - d * y;
        y = y * y;
        q = q * y + q;
        ((volatile vector *)c)[0] = d;
        x = q * x;
    }
    return x;
}

void divide_four(vector *p, vector u, vector v, vector w, vector x, int n)
{
    vector e = p[0], f = p[1], g = p[2], h = p[3];
    for (int i = 0; i < n; i++) { e /= u; f /= v; g /= w; h /= x; }
    p[0] = e; p[1] = f; p[2] = g; p[3] = h;
}

int follow(int n)
{
    int at = 0;
    for (int i = 0; i < n; i++)
        at = ints[at];
    return at;
}

void copy_longs(void) { for (int i = 0; i < N; i++) to[i] = from[i]; }

void fill_ints(int n) { for (int i = 0; i < n; i++) ints[i] = 2; }
