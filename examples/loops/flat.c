/* Arrays in one block of memory, their places computed in the ways in which programs do. */

static int at(int i, int j, int m)
{
    return i * m + j;
}

/* Diffusion in a box: strides before the loops, the centre's place in a variable. */
void diffuse(int nx, int ny, int nz, const double *restrict now, double *restrict next)
{
    const int row = nz;
    const int plane = ny * nz;
#pragma scop
    for (int x = 1; x < nx - 1; x++)
        for (int y = 1; y < ny - 1; y++)
            for (int z = 1; z < nz - 1; z++) {
                int c = x * plane + y * row + z;
                next[c] = now[c] + 0.1 * (now[c - plane] + now[c + plane] + now[c - row] + now[c + row]
                                          + now[c - 1] + now[c + 1] - 6.0 * now[c]);
            }
#pragma endscop
}

/* A smoothed picture: pointers to its rows. */
void smooth(int n, int m, const float *restrict in, float *restrict out)
{
#pragma scop
    for (int i = 1; i < n - 1; i++) {
        const float *above = in + (i - 1) * m, *here = above + m, *below = here + m;
        float *to = &out[i * m];
        for (int j = 1; j < m - 1; j++)
            to[j] = 0.2f * (above[j] + here[j - 1] + here[j] + here[j + 1] + below[j]);
    }
#pragma endscop
}

/* A transposed product: places from a function. */
void gram(int n, int m, const double *restrict a, double *restrict g)
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            g[at(i, j, m)] = 0.0;
            for (int k = 0; k < n; k++)
                g[at(i, j, m)] += a[at(k, i, m)] * a[at(k, j, m)];
        }
#pragma endscop
}
