/* expect SW681
 * The function that it calls uses $1, too. */
	.text
	.globl	needs_register_across_own_call
needs_register_across_own_call:
	ldi	$sp, -32($sp)
	stl	$26, 0($sp)
	mov	64, $1
	bsr	$26, uses_the_first
	stw	$1, 0($17)	/* HERE */
	ldl	$26, 0($sp)
	ldi	$sp, 32($sp)
	ret	$31, ($26), 1
	.type	uses_the_first, @function
uses_the_first:
	ldi	$1, 8($16)
	fldd	$0, 0($1)
	ret	$31, ($26), 1
