/* What the generated table of cases needs; see driver.c. */
#ifndef SWMOCK_DRIVER_H
#define SWMOCK_DRIVER_H

enum kind { K_DOUBLE, K_FLOAT, K_INT, K_LONG, K_UNSIGNED, K_SHORT, K_UCHAR };

struct program {
    const char *name;
    void (*run)(int n, int m); /* makes the objects, calls both versions */
    int sizes[8][2];
    int cases;
    char *ldm, *end; /* what the program has in the LDM; null: nothing */
    int shares;      /* whether CPEs hand data to each other */
};

extern const struct program programs[];
extern const int program_count;

/* A new object of `count` elements in two copies with equal content; the copies are R(i) and G(i). */
void object(const char *name, enum kind kind, long count);
void *R(int number);
void *G(int number);
void generated(void); /* called between the two versions */

#endif
