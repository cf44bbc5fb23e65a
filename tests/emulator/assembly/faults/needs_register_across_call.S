/* expect SW681
 * The call of C leaves nothing of $17. */
	.text
	.globl	needs_register_across_call
needs_register_across_call:
	ldi	$sp, -32($sp)
	stl	$26, 0($sp)
	mov	$16, $1
	fldd	$16, 0($1)
	ldl	$27, twice($gp)	!literal
	call	$26, ($27), twice
	fstd	$0, 0($17)	/* HERE */
	ldl	$26, 0($sp)
	ldi	$sp, 32($sp)
	ret	$31, ($26), 1
