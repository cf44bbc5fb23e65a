/* expect SW682
 * The address to return to comes back from another place of the stack. */
	.text
	.globl	returns_elsewhere
returns_elsewhere:
	ldi	$sp, -32($sp)
	stl	$26, 0($sp)
	stl	$16, 8($sp)
	ldl	$26, 8($sp)
	ldi	$sp, 32($sp)
	ret	$31, ($26), 1	/* HERE */
