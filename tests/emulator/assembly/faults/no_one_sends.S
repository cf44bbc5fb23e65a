/* expect SW640 exit 87
 * It waits for a message that nobody sends. */
	.text
	.globl	no_one_sends
no_one_sends:
	getr	$1	/* HERE */
	vstd	$1, 0($17)
	ret	$31, ($26), 1
