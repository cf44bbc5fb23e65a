/* expect SW663
 * Its variable of the LDM has no value yet. */
#include "descriptor.h"
BUFFER
	.text
	.globl	variable_without_value
variable_without_value:
	ADDRESS($4, buffer)
	ldw	$1, 4($4)	/* HERE */
	stw	$1, 0($17)
	ret	$31, ($26), 1
