/* expect SW670
 * An atomic operation on an address that is no multiple of 4. */
	.text
	.globl	atomic_on_odd_address
atomic_on_odd_address:
	ldi	$18, 2($18)
	faaw	$1, 0($18)	/* HERE */
	ret	$31, ($26), 1
