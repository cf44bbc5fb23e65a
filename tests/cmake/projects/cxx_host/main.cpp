#include <iostream>
#include <vector>

#include "scale.h"

int main()
{
    std::vector<double> x(100, 1.5), y(100);
    scale(100, 2, x.data(), y.data());
    std::cout << y[99] << "\n";
}
