/* expect SW680
 * What it takes from $sp it does not give back. */
	.text
	.globl	keeps_stack
keeps_stack:
	ldi	$sp, -32($sp)
	fldd	$1, 0($16)
	fstd	$1, 0($sp)
	ret	$31, ($26), 1	/* HERE */
