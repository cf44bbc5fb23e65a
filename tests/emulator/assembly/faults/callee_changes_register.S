/* expect SW680
 * The function that it calls changes $9, which it needs. */
	.text
	.globl	callee_changes_register
callee_changes_register:
	ldi	$sp, -32($sp)
	stl	$26, 0($sp)
	stl	$9, 8($sp)
	mov	$17, $9
	bsr	$26, changing
	fstd	$31, 0($9)
	ldl	$26, 0($sp)
	ldl	$9, 8($sp)
	ldi	$sp, 32($sp)
	ret	$31, ($26), 1
	.type changing, @function
changing:
	ldi	$9, 8($17)
	ret	$31, ($26), 1	/* HERE */
