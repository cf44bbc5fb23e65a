/* A step of a star of thirteen points in space, two to each side. */

#ifndef N
#define N 128
#endif

void star_3d_13(float out[restrict N][N][N], const float in[restrict N + 4][N + 4][N + 4])
{
#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                out[i][j][k] = 0.1f * in[i + 2][j + 2][k + 2]
                               + 0.2f * (in[i][j + 2][k + 2] + in[i + 2][j][k + 2]
                                       + in[i + 2][j + 2][k] + in[i + 2][j + 2][k + 4]
                                       + in[i + 2][j + 4][k + 2] + in[i + 4][j + 2][k + 2])
                               + 0.3f * (in[i + 1][j + 2][k + 2] + in[i + 2][j + 1][k + 2]
                                       + in[i + 2][j + 2][k + 1] + in[i + 2][j + 2][k + 3]
                                       + in[i + 2][j + 3][k + 2] + in[i + 3][j + 2][k + 2])
                               - 0.4f * in[i + 2][j + 2][k + 2];
#pragma endscop
}
