/* Convolution of images with 3 x 3 weights for each pair of channels; the channels stand before rows and columns. */

void convolution_nchw(int images, int out, int in, int rows, int columns,
                      float y[restrict images][out][rows][columns],
                      float x[restrict images][in][rows + 2][columns + 2], float weight[restrict out][in][3][3])
{
#pragma scop
    for (int n = 0; n < images; n++)
        for (int k = 0; k < out; k++)
            for (int i = 0; i < rows; i++)
                for (int j = 0; j < columns; j++)
                    for (int c = 0; c < in; c++)
                        for (int r = 0; r < 3; r++)
                            for (int s = 0; s < 3; s++)
                                y[n][k][i][j] += x[n][c][i + r][j + s] * weight[k][c][r][s];
#pragma endscop
}
