/* expect SW610
 * A load from address 0. */
	.text
	.globl	null_pointer
null_pointer:
	mov	$31, $1
	ldl	$2, 0($1)	/* HERE */
	ret	$31, ($26), 1
