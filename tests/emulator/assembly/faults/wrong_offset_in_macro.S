/* expect SW623
 * The macro steps over the end of y. */
	.macro	store	number
	fstd	$1, 8*\number($17)	/* HERE */
	.endm
	.text
	.globl	wrong_offset_in_macro
wrong_offset_in_macro:
	fldd	$1, 0($16)
	.irp	where, 0, 63, 64
	store	\where
	.endr
	ret	$31, ($26), 1
