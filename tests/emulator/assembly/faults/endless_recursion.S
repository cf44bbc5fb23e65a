/* expect SW682
 * It calls itself and never stops. */
	.text
	.globl	endless_recursion
endless_recursion:
	ldi	$sp, -32($sp)	/* HERE */
	stl	$26, 0($sp)
	bsr	$26, endless_recursion
	ldl	$26, 0($sp)
	ldi	$sp, 32($sp)
	ret	$31, ($26), 1
