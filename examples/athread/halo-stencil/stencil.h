#ifndef STENCIL_H
#define STENCIL_H
#define WIDTH 130 /* with one column of border on either side */
struct stencil {
    const double *from;
    double *to;
    int rows; /* without the two rows of border */
};
#endif
