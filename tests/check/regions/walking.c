/* Buffers that are packed, rows that pointers walk along, and cases of a switch. */

enum { FLUID, WALL = 3, INLET };

struct particle { double at, speed; };

void pack(int n, int m, int width, const double a[restrict n][m], double *restrict to)
{
    int k = 0;
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < width; j++)
            to[k++] = a[i][j];
#pragma endscop
}

void unpack(int n, int m, double a[restrict n][m], const double *restrict from)
{
#pragma scop
    int k = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            a[i][j] = from[k] > 0.0 ? from[k] : a[i][j];
            ++k;
        }
    }
#pragma endscop
}

void scaled(int n, int m, double *restrict to, const double *restrict from, double factor)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double *t = to + i * m;
        const double *f = &from[i * m];
        for (int j = 0; j < m; j++)
            *t++ = factor * *f++;
    }
#pragma endscop
}

void backwards(int n, double *restrict to, const double *restrict from)
{
#pragma scop
    int k = n - 1;
    for (int i = 0; i < n; i++)
        to[i] = from[k--];
#pragma endscop
}

void move(int n, struct particle *restrict p, const double *restrict force, double dt)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        p->speed += dt * force[i];
        p->at += dt * p->speed;
        p++;
    }
#pragma endscop
}

void cells(int n, const int *restrict kind, const double *restrict a, double *restrict b, double *restrict c)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        switch (kind[i]) {
        case FLUID:
            b[i] = a[i] * 2.0;
            break;
        case WALL:
        case INLET: {
            double t = a[i] + 1.0;
            b[i] = t * t;
            break;
        }
        default:
            b[i] = 0.0;
        }
        switch (i % 3) {
        case 0: c[i] = b[i]; break;
        case 2: c[i] = -b[i];
        }
    }
#pragma endscop
}
