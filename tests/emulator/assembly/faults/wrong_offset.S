/* expect SW623
 * The last vector lies behind the end of x. */
	.text
	.globl	wrong_offset
wrong_offset:
	vldd	$1, 480($16)
	vldd	$2, 512($16)	/* HERE */
	vaddd	$1, $2, $1
	vstd	$1, 0($17)
	ret	$31, ($26), 1
