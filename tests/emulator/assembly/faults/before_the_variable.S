/* expect SW623
 * A load ahead of the first element. */
#include "descriptor.h"
BUFFER
	.text
	.globl	before_the_variable
before_the_variable:
	ADDRESS($4, buffer)
	fldd	$1, -8($4)	/* HERE */
	fstd	$1, 0($17)
	ret	$31, ($26), 1
