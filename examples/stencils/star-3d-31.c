/* A step of a star of 31 points in space, weighted differences of up to 5 steps to either side. */

#ifndef N
#define N 128
#endif

void star_3d_31(float out[restrict N][N][N], const float in[restrict N + 10][N + 10][N + 10])
{
#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                out[i][j][k] = -0.1f * (0.8f * (in[i + 6][j + 5][k + 5] - in[i + 4][j + 5][k + 5])
                                  - 0.2f * (in[i + 7][j + 5][k + 5] - in[i + 3][j + 5][k + 5])
                                  + 0.038f * (in[i + 8][j + 5][k + 5] - in[i + 2][j + 5][k + 5])
                                  - 0.0035f * (in[i + 9][j + 5][k + 5] - in[i + 1][j + 5][k + 5])
                                  - 0.00028f * (in[i + 10][j + 5][k + 5] - in[i][j + 5][k + 5]))
                               - 0.2f * (0.8f * (in[i + 5][j + 6][k + 5] - in[i + 5][j + 4][k + 5])
                                  - 0.2f * (in[i + 5][j + 7][k + 5] - in[i + 5][j + 3][k + 5])
                                  + 0.038f * (in[i + 5][j + 8][k + 5] - in[i + 5][j + 2][k + 5])
                                  - 0.0035f * (in[i + 5][j + 9][k + 5] - in[i + 5][j + 1][k + 5])
                                  - 0.00028f * (in[i + 5][j + 10][k + 5] - in[i + 5][j][k + 5]))
                               - 0.3f * (0.8f * (in[i + 5][j + 5][k + 6] - in[i + 5][j + 5][k + 4])
                                  - 0.2f * (in[i + 5][j + 5][k + 7] - in[i + 5][j + 5][k + 3])
                                  + 0.038f * (in[i + 5][j + 5][k + 8] - in[i + 5][j + 5][k + 2])
                                  - 0.0035f * (in[i + 5][j + 5][k + 9] - in[i + 5][j + 5][k + 1])
                                  - 0.00028f * (in[i + 5][j + 5][k + 10] - in[i + 5][j + 5][k]));
#pragma endscop
}
