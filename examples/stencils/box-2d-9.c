/* A step of a box of three by three points in the plane. */

#ifndef N
#define N 2048
#endif

void box_2d_9(float out[restrict N][N], const float in[restrict N + 2][N + 2])
{
#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            out[i][j] = 0.1f * in[i + 1][j + 1] + 0.2f * in[i + 1][j] + 0.3f * in[i][j + 1]
                        + 0.4f * in[i + 1][j + 2] + 0.5f * in[i + 2][j + 1] + 0.4f * in[i][j + 2]
                        + 0.3f * in[i + 2][j] + 0.2f * in[i][j] + 0.1f * in[i + 2][j + 2];
#pragma endscop
}
