/* expect SW623
 * A store behind the last element of its own variable. */
#include "descriptor.h"
BUFFER
	.text
	.globl	behind_the_variable
behind_the_variable:
	ADDRESS($4, buffer)
	fstd	$31, 64($4)	/* HERE */
	ret	$31, ($26), 1
