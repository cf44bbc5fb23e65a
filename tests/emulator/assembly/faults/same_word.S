/* expect SW660
 * All CPEs store to one word of main memory. */
	.text
	.globl	same_word
same_word:
	stl	$19, 0($18)	/* HERE */
	ret	$31, ($26), 1
