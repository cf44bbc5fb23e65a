/* y = i == 0 ? x + 2 : i == 1 ? 5 : i < 4 ? 0 : i < 8 ? x : i == 8 ? 14 : 0
 * Saves the caller's registers in three ways, clears registers by themselves, builds a vector from parts, and
 * calls a helper with a convention of its own. */
	.text
	.globl	registers_without_values
registers_without_values:
	ldi	$sp, -64($sp)
	stl	$26, 0($sp)
	stl	$9, 8($sp)
	mov	$10, $22		/* kept in a register that others may change */
	ldi	$28, 32($sp)
	stl	$11, 8($28)		/* not by $sp */
	stl	$0, 16($sp)		/* spilled and filled as compilers do, and never used */
	ldl	$0, 16($sp)
	stl	$12, 24($sp)		/* saved and never changed */
	mov	$15, $27		/* so do compilers */
	mov	$13, $7			/* kept, spilled, and put back from elsewhere */
	stl	$7, 48($sp)
	mov	$17, $9
	xor	$1, $1, $1
	ldi	$2, 64($31)
.Lclear:
	s8addl	$1, $9, $3
	stl	$31, 0($3)
	addw	$1, 1, $1
	subw	$2, 1, $2
	bgt	$2, .Lclear
	vsubl	$4, $4, $4
	vstd	$4, 0($9)
	mov	2, $10
	fcvtld	$10, $11
	fldd	$5, 0($16)
	faddd	$5, $11, $5
	fstd	$5, 0($9)
	mov	7, $7
	bsr	$26, .Ldouble		/* takes $7, gives $6 and $7 */
	addl	$6, $7, $6
	fcvtld	$6, $6
	fstd	$6, 64($9)
	fldd	$1, 32($16)
	fldd	$2, 40($16)
	fldd	$3, 48($16)
	fldd	$4, 56($16)
	vinsf	$1, $8, 0, $8
	vinsf	$2, $8, 1, $8
	vinsf	$3, $8, 2, $8
	vinsf	$4, $8, 3, $8
	vstd	$8, 32($9)
	ldi	$1, 5($31)
	fcvtld	$1, $1
	fstd	$1, 8($9)
	mov	$22, $10
	mov	$27, $15
	ldl	$8, 48($sp)
	mov	$8, $13
	ldi	$28, 32($sp)
	ldl	$11, 8($28)
	ldl	$26, 0($sp)
	ldl	$9, 8($sp)
	ldi	$sp, 64($sp)
	ret	$31, ($26), 1
.Ldouble:
	mov	$7, $6
	andnot	$7, $7, $7
	addl	$7, $6, $7
	ret	$31, ($26), 1
