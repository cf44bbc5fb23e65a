/* expect SW680
 * $9 comes back from another place of the stack. */
	.text
	.globl	loads_wrong_slot
loads_wrong_slot:
	ldi	$sp, -32($sp)
	stl	$9, 0($sp)
	stl	$26, 8($sp)
	mov	5, $9
	ldl	$9, 8($sp)
	ldi	$sp, 32($sp)
	ret	$31, ($26), 1	/* HERE */
