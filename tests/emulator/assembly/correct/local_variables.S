/* y = x + 3 + me
 * Variables of the LDM with and without a first value, a constant, a word of main memory, and _MYID. */
	.section .tdata, "waT", "progbits"
	.align	3
	.type	three, @object
	.size	three, 8
three:
	.double	3.0
	.section .tbss, "waT", "nobits"
	.align	3
	.type	sums, @object
	.size	sums, 512
sums:	.skip	512
	.text
	.globl	local_variables
local_variables:
	ldih	$1, three($31)		!tprelhi
	fldd	$1, three($1)		!tprello
	ldih	$2, _MYID($31)		!tprelhi
	ldw	$2, _MYID($2)		!tprello
	fcvtld	$2, $2
	faddd	$1, $2, $1
	ldih	$3, sums($31)		!tprelhi
	ldi	$4, sums+8($3)		!tprello
	ldi	$3, sums($3)		!tprello
	fstd	$1, 0($3)
	mov	63, $5
.Lfill:					/* each from the one before */
	fldd	$6, -8($4)
	fstd	$6, 0($4)
	ldi	$4, 8($4)
	subw	$5, 1, $5
	bgt	$5, .Lfill
	mov	64, $5
.Ladd:
	fldd	$6, 0($3)
	fldd	$7, 0($16)
	faddd	$6, $7, $6
	fstd	$6, 0($17)
	ldi	$3, 8($3)
	ldi	$16, 8($16)
	ldi	$17, 8($17)
	subw	$5, 1, $5
	bgt	$5, .Ladd
	ret	$31, ($26), 1
