/* expect SW681
 * $9 is the caller's: saving it is right, to count with it is not. */
	.text
	.globl	reads_the_callers_register
reads_the_callers_register:
	ldi	$sp, -32($sp)
	stl	$9, 0($sp)
	addl	$9, 1, $1	/* HERE */
	mov	$1, $9
	stl	$9, 0($17)
	ldl	$9, 0($sp)
	ldi	$sp, 32($sp)
	ret	$31, ($26), 1
