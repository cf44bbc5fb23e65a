#include <stdio.h>

enum colour { RED, GREEN, BLUE };
enum sign { MINUS = -1, NIL, PLUS };
enum computed {
    CAST = (unsigned char)300, AFTER, SIZE = sizeof(int) * 2, LETTER = 'a', HEX = '\x41', CHOSEN = CAST > 10 ? 7 : 8,
    MASKED = ~0 & 0xf, UNSIGNED = -1u > 0, SHIFTED = -8 >> 1 & 63, LOWEST_PLUS = -2147483647 - 1 + 5 > 0
};
enum large { LARGE = 0x80000000 };
enum larger { LARGER = 1L << 40 };
typedef enum colour colour_t;
typedef enum { FIRST, LAST = 5 } unnamed_t;
struct cell { double w; enum colour c; enum sign s; };

void values(int n, enum colour *c, colour_t *d, enum sign *s, unnamed_t *q, double *restrict x, long *restrict y)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        enum colour local = c[i];
        x[i] = (c[i] - 5 < 0) + 10.0 * (s[i] - 5 < 0) + 100.0 * (d[i] / -2 > 0) + 1000.0 * (q[i] - 7 > 0);
        x[i] += (local - 4 > 0 ? 3 : 4) + (double)(c[i] - GREEN - 3) + (RED - 1 < 0) + (LAST - 6 < 0);
        y[i] = CAST + 3 * AFTER + 5 * SIZE + 7 * LETTER + 11 * CHOSEN + 13 * MASKED + 17 * HEX + 19 * UNSIGNED;
        y[i] += SHIFTED * 23 + LOWEST_PLUS + (enum colour)(i - 5) % 7 + (c[i] >> 1) + (-c[i] > 0);
        y[i] += (LARGE - 1 > 0) + (LARGE - 0x80000001 < 0) + (LARGER >> 38) + (long)(enum sign)(i - 9) + LARGE;
    }
#pragma endscop
}

void bounds(int n, enum colour m, colour_t first, double *restrict x)
{
    enum inner { THREE = 3, FOUR } z = FOUR;
#pragma scop
    for (enum colour i = first; i < m; i++)
        x[i] = i - 3 > 0 ? 2.0 : 1.0;
    for (int i = 0; i < n; i++)
        if (m - 100 > 0)
            x[i] += 1;
    for (int i = 0; i < n; i++) {
        enum { SEVEN = 7, EIGHT } l = EIGHT;
        x[i] += (l - 9 > 0) + 2 * (z - FOUR * 2 > 0) + THREE;
    }
#pragma endscop
}

void members(int n, struct cell *restrict s, enum large *restrict w, double *restrict x)
{
#pragma scop
    for (int i = 0; i < n; i++)
        x[i] = s[i].c - 8 > 0;
    for (int i = 0; i < n; i++)
        x[i] += w[i] / 2 - (w[i] > -1);
#pragma endscop
}

enum colour c[100];
enum colour d[100];
enum sign s[100];
enum large w[100];
unnamed_t q[100];
struct cell cells[100];
double x[100];
long y[100];

int main(void)
{
    for (int i = 0; i < 100; i++) {
        c[i] = i % 11;
        d[i] = i % 9;
        s[i] = i % 3 - 1;
        q[i] = i % 13;
        w[i] = 3000000000u + i;
        cells[i].c = i % 17;
    }
    values(77, c, d, s, q, x, y);
    for (int i = 0; i < 100; i++)
        printf("%g %ld\n", x[i], y[i]);
    bounds(77, 50, 3, x);
    for (int i = 0; i < 100; i++)
        printf("%g\n", x[i]);
    members(77, cells, w, x);
    for (int i = 0; i < 100; i++)
        printf("%g\n", x[i]);
    return 0;
}
