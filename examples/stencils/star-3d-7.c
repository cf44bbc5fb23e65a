/* A step of a star of seven points in space. */

#ifndef N
#define N 128
#endif

void star_3d_7(float out[restrict N][N][N], const float in[restrict N + 2][N + 2][N + 2])
{
#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                out[i][j][k] = 0.1f * in[i + 1][j + 1][k + 1] + 0.2f * in[i + 1][j + 1][k]
                               + 0.3f * in[i + 1][j + 1][k + 2] + 0.4f * in[i][j + 1][k + 1]
                               + 0.3f * in[i + 2][j + 1][k + 1] + 0.2f * in[i + 1][j][k + 1]
                               + 0.1f * in[i + 1][j + 2][k + 1];
#pragma endscop
}
