/* y = 2 * x
 * A function that ends with a jump into another, of which a loop goes to the second entry. */
	.text
	.globl	tail_calls
	.ent	tail_calls
tail_calls:
	mov	$26, $25
	br	$31, .Lprepare
	.end	tail_calls
.Lprepare:
	mov	64, $1
	.ent	doubled
doubled:
$ng..doubled:
	fldd	$2, 0($16)
	faddd	$2, $2, $2
	fstd	$2, 0($17)
	ldi	$16, 8($16)
	ldi	$17, 8($17)
	subl	$1, 1, $1
	bgt	$1, $ng..doubled
	ret	$31, ($25), 1
	.end	doubled
