/* What only the user's own text says: members hidden in macros, values that lead nowhere, constants,
   objects of other files, and variables that the function sets up before the region. */
#include <stdio.h>
#include <stdlib.h>
struct other { int n; double *p; double *idle; };
struct grid { int nx; double *a; struct other *o; double w[16]; double *idle; const float k; };
#define A(i) g->a[i]
#define G (g)
#define W(i) G->w[i]
#define OP(i) (g->o->p)[i]
#define SELF struct grid *g

void hidden(SELF, int n)
{
#pragma scop
    for (int i = 1; i < n; i++)
        A(i) = A(i) * 2.0 + W(3) + G->k;
#pragma endscop
}

void deeper(struct grid *restrict const g)
{
#pragma scop
    for (int i = 0; i < g->o->n; i++)
        OP(i) = OP(i) + 1.0;
#pragma endscop
}

void led_nowhere(int n, double *restrict a, const double *b, const struct grid *g, const int *at)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double t = b[i] + g->idle[i] + g->o->idle[i];
        t = b[at[i]];
        a[i] = i * 3.0;
    }
#pragma endscop
}

static struct grid whole;
struct grid *behind;
extern double elsewhere[100];
extern double *pointed;
static const double table[4] = {1, 2, 3, 4};

void file_scope(int n, double *restrict a)
{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = whole.a[i] + behind->a[i] + whole.w[i % 16] + elsewhere[i % 100] + pointed[i] + table[i % 4];
    whole.nx = 3;
#pragma endscop
}

int locals(int argc, char **argv)
{
    const int n = atoi(argv[1]), m = n + 2;
    double *restrict const x = malloc(n * sizeof *x);
    double rows[m][n], weights[] = {1.0, 2.0, 3.0};
    static float kept[64];
    struct grid s = *(struct grid *)argv;
    register double sum = 0;
    for (int t = 0; t < 3; t++) {
        double y[n];
        if (argc > t) {
            int i = 7;
#pragma scop
            for (int i = 0; i < n; i++) {
                x[i] = y[i] * t + weights[i % 3];
                for (int j = 0; j < m; j++)
                    rows[j][i] = x[i] * s.w[2] + s.a[j];
            }
            for (int i = 0; i < 64; i++)
                kept[i] *= 2;
#pragma endscop
            printf("%d", i);
        }
        printf("%g %g %g %g", x[0], y[0], rows[0][0], kept[3]);
    }
    return sum > 0;
}

int main(int argc, char **argv)
{
    typedef struct { int a; double b; } record;
    int n = argc * 10;
    double (*q)[10] = (double (*)[10])malloc(80 * n);
    record *r = malloc(n * sizeof *r);
#pragma scop
    for (int i = 0; i < n; i++) {
        r[i].b = i + n;
        for (int j = 0; j < 10; j++)
            q[i][j] = r[i].b * j;
    }
#pragma endscop
    return (int)(q[0][0] + r[0].b);
}
#define A(i) nonsense
#undef SELF
