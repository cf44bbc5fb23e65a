/* expect SW681
 * It is called with four arguments. */
	.text
	.globl	takes_an_argument_too_many
takes_an_argument_too_many:
	fldd	$1, 0($16)
	stl	$20, 0($17)	/* HERE */
	ret	$31, ($26), 1
