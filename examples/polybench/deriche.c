/* Deriche's recursive smoothing of an image of w columns and h rows: along each row a filter in either direction,
   whose sum is filtered along each column in the same way.  alpha is the filter's width. */

#include <math.h>

void deriche(int w, int h, float alpha, float in[restrict w][h], float out[restrict w][h],
             float forth[restrict w][h], float back[restrict w][h])
{
#pragma scop
    float fade = expf(-alpha), fade2 = expf(-2.0f * alpha);
    float k = (1.0f - fade) * (1.0f - fade) / (1.0f + 2.0f * alpha * fade - expf(2.0f * alpha));
    float a1 = k, a2 = k * fade * (alpha - 1.0f);
    float a3 = k * fade * (alpha + 1.0f), a4 = -k * fade2;
    float b1 = powf(2.0f, -alpha), b2 = -fade2;

    for (int i = 0; i < w; i++) {
        float x = 0.0f, y1 = 0.0f, y2 = 0.0f;
        for (int j = 0; j < h; j++) {
            forth[i][j] = a1 * in[i][j] + a2 * x + b1 * y1 + b2 * y2;
            x = in[i][j];
            y2 = y1;
            y1 = forth[i][j];
        }
    }
    for (int i = 0; i < w; i++) {
        float x1 = 0.0f, x2 = 0.0f, y1 = 0.0f, y2 = 0.0f;
        for (int j = h - 1; j >= 0; j--) {
            back[i][j] = a3 * x1 + a4 * x2 + b1 * y1 + b2 * y2;
            x2 = x1;
            x1 = in[i][j];
            y2 = y1;
            y1 = back[i][j];
        }
    }
    for (int i = 0; i < w; i++)
        for (int j = 0; j < h; j++)
            out[i][j] = forth[i][j] + back[i][j];
    for (int j = 0; j < h; j++) {
        float x = 0.0f, y1 = 0.0f, y2 = 0.0f;
        for (int i = 0; i < w; i++) {
            forth[i][j] = a1 * out[i][j] + a2 * x + b1 * y1 + b2 * y2;
            x = out[i][j];
            y2 = y1;
            y1 = forth[i][j];
        }
    }
    for (int j = 0; j < h; j++) {
        float x1 = 0.0f, x2 = 0.0f, y1 = 0.0f, y2 = 0.0f;
        for (int i = w - 1; i >= 0; i--) {
            back[i][j] = a3 * x1 + a4 * x2 + b1 * y1 + b2 * y2;
            x2 = x1;
            x1 = out[i][j];
            y2 = y1;
            y1 = back[i][j];
        }
    }
    for (int i = 0; i < w; i++)
        for (int j = 0; j < h; j++)
            out[i][j] = forth[i][j] + back[i][j];
#pragma endscop
}
