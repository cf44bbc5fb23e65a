#ifndef HISTOGRAM_H
#define HISTOGRAM_H
#define BINS 64
#define CHUNK 512
struct histogram {
    unsigned *keys;
    int chunks;
    int *next;  /* the first chunk that nobody has taken */
    int *bins;
};
#endif
