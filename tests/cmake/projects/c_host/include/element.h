#ifndef ELEMENT_H
#define ELEMENT_H

typedef double element;

#endif
