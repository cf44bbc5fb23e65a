/* A step of a box of 11 by 11 points in the plane; the weights grow from row to row. */

#ifndef N
#define N 1024
#endif

/* The weighted sum of the points in a column. */
#define COLUMN(b) \
    (0.0f * in[i][j + b] + 1.0f * in[i + 1][j + b] + 2.0f * in[i + 2][j + b] \
     + 3.0f * in[i + 3][j + b] + 4.0f * in[i + 4][j + b] + 5.0f * in[i + 5][j + b] \
     + 6.0f * in[i + 6][j + b] + 7.0f * in[i + 7][j + b] + 8.0f * in[i + 8][j + b] \
     + 9.0f * in[i + 9][j + b] + 10.0f * in[i + 10][j + b])

void box_2d_121(float out[restrict N][N], const float in[restrict N + 10][N + 10])
{
#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            out[i][j] = COLUMN(0) + COLUMN(1) + COLUMN(2) + COLUMN(3) + COLUMN(4)
                        + COLUMN(5) + COLUMN(6) + COLUMN(7) + COLUMN(8) + COLUMN(9)
                        + COLUMN(10);
#pragma endscop
}
