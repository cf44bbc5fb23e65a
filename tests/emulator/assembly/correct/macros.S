/* y = i < 8 ? 3 * x + i : i == 63 ? 15 : 0
 * Made by macros: repetitions, counters, defaults, arguments by name, labels of their own. */
	.macro	clear to=$17, from:req, count=64
	mov	\count, $1
.Lclear\@:
	fstd	$31, 8*\from(\to)
	ldi	\to, 8(\to)
	subw	$1, 1, $1
	bgt	$1, .Lclear\@
	.endm
	.macro	threefold first, rest:vararg
	.ifb	\first
	.exitm
	.endif
	fldd	$2, 8*(\first)($16)
	faddd	$2, $2, $3
	faddd	$3, $2, $3
	mov	\first, $4
	fcvtld	$4, $4
	faddd	$3, $4, $3
	fstd	$3, 8*(\first)($5)
	threefold	\rest
	.endm
	.set	n, 0
	.equ	last, 63
	.text
	.globl	macros
macros:
	mov	$17, $5
	clear	count=32, from=0
	clear	, 0, 32
	.rept	4
	threefold	n
	.set	n, n + 1
	.endr
	threefold	n, n+1 n+2, n+3
	mov	0, $6
	.irp	step, 1, 2, 4, 8
	.if	\step <> 3
	addl	$6, \step, $6
	.else
	nonsense
	.endif
	.endr
	fcvtld	$6, $6
	fstd	$6, last*8($5)
	ret	$31, ($26), 1
