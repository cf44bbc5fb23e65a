/* expect SW681
 * What comes back from the frame has no value: it had none when it was put there. */
	.text
	.globl	spills_unset_register
spills_unset_register:
	ldi	$sp, -32($sp)
	stl	$5, 8($sp)
	fldd	$1, 0($16)
	ldl	$6, 8($sp)
	stl	$6, 0($17)	/* HERE */
	ldi	$sp, 32($sp)
	ret	$31, ($26), 1
