/* Convolution of images with 3 x 3 weights for each pair of channels; the channels stand behind rows and columns. */

void convolution_nhwc(int images, int out, int in, int rows, int columns,
                      float y[restrict images][rows][columns][out],
                      float x[restrict images][rows + 2][columns + 2][in], float weight[restrict 3][3][in][out])
{
#pragma scop
    for (int n = 0; n < images; n++)
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < columns; j++)
                for (int k = 0; k < out; k++)
                    for (int r = 0; r < 3; r++)
                        for (int s = 0; s < 3; s++)
                            for (int c = 0; c < in; c++)
                                y[n][i][j][k] += x[n][i + r][j + s][c] * weight[r][s][c][k];
#pragma endscop
}
