fill_three:
	xorl	%eax, %eax
	leaq	a(%rip), %rsi
	vmovsd	.LC0(%rip), %xmm1
	vmovsd	.LC1(%rip), %xmm0
	leaq	b(%rip), %rcx
	leaq	c(%rip), %rdx
.L2:
	movq	$0x000000000, (%rdx,%rax)
	vmovsd	%xmm1, (%rsi,%rax)
	vmovsd	%xmm0, (%rcx,%rax)
	addq	$8, %rax
	cmpq	$32768, %rax
	jne	.L2
	ret
twice:
	leaq	a(%rip), %rax
	leaq	32768(%rax), %rdx
.L6:
	vmovsd	(%rax), %xmm0
	addq	$8, %rax
	vaddsd	%xmm0, %xmm0, %xmm0
	vmovsd	%xmm0, -8(%rax)
	cmpq	%rdx, %rax
	jne	.L6
	ret
copy_eight:
	leaq	a(%rip), %rax
	leaq	c(%rip), %rdx
	leaq	32768(%rax), %rcx
.L9:
	vmovapd	(%rax), %ymm0
	vmovapd	32(%rax), %ymm1
	addq	$256, %rax
	addq	$256, %rdx
	vmovapd	-128(%rax), %ymm4
	vmovapd	-96(%rax), %ymm5
	vmovapd	-64(%rax), %ymm6
	vmovapd	-32(%rax), %ymm7
	vmovapd	%ymm0, -256(%rdx)
	vmovapd	-192(%rax), %ymm2
	vmovapd	%ymm4, -128(%rdx)
	vmovapd	-160(%rax), %ymm3
	vmovapd	%ymm1, -224(%rdx)
	vmovapd	%ymm2, -192(%rdx)
	vmovapd	%ymm3, -160(%rdx)
	vmovapd	%ymm5, -96(%rdx)
	vmovapd	%ymm6, -64(%rdx)
	vmovapd	%ymm7, -32(%rdx)
	cmpq	%rax, %rcx
	jne	.L9
	vzeroupper
	ret
scale:
	xorl	%eax, %eax
	leaq	b(%rip), %rcx
	leaq	c(%rip), %rdx
.L12:
	vmulpd	(%rdx,%rax), %ymm0, %ymm1
	vmovapd	%ymm1, (%rcx,%rax)
	addq	$32, %rax
	cmpq	$32768, %rax
	jne	.L12
	ret
add:
	xorl	%eax, %eax
	leaq	c(%rip), %rsi
	leaq	a(%rip), %rcx
	leaq	b(%rip), %rdx
.L15:
	vmovapd	(%rcx,%rax), %ymm1
	vaddpd	(%rdx,%rax), %ymm1, %ymm0
	vmovapd	%ymm0, (%rsi,%rax)
	addq	$32, %rax
	cmpq	$32768, %rax
	jne	.L15
	vzeroupper
	ret
triad:
	xorl	%eax, %eax
	leaq	a(%rip), %rsi
	leaq	c(%rip), %rcx
	leaq	b(%rip), %rdx
.L18:
	vmulpd	(%rcx,%rax), %ymm0, %ymm1
	vaddpd	(%rdx,%rax), %ymm1, %ymm1
	vmovapd	%ymm1, (%rsi,%rax)
	addq	$32, %rax
	cmpq	$32768, %rax
	jne	.L18
	ret
errors:
	vxorpd	%xmm6, %xmm6, %xmm6
	xorl	%eax, %eax
	vmovq	.LC3(%rip), %xmm4
	leaq	a(%rip), %rsi
	vmovsd	%xmm6, %xmm6, %xmm7
	vmovsd	%xmm6, %xmm6, %xmm5
	leaq	b(%rip), %rcx
	leaq	c(%rip), %rdx
.L21:
	vmovsd	(%rsi,%rax), %xmm3
	vsubsd	%xmm0, %xmm3, %xmm3
	vandpd	%xmm4, %xmm3, %xmm3
	vaddsd	%xmm3, %xmm5, %xmm5
	vmovsd	(%rcx,%rax), %xmm3
	vsubsd	%xmm1, %xmm3, %xmm3
	vandpd	%xmm4, %xmm3, %xmm3
	vaddsd	%xmm3, %xmm7, %xmm7
	vmovsd	(%rdx,%rax), %xmm3
	addq	$8, %rax
	vsubsd	%xmm2, %xmm3, %xmm3
	vandpd	%xmm4, %xmm3, %xmm3
	vaddsd	%xmm3, %xmm6, %xmm6
	cmpq	$32768, %rax
	jne	.L21
	vaddsd	%xmm7, %xmm5, %xmm5
	vaddsd	%xmm6, %xmm5, %xmm0
	ret
far_off:
	leaq	b(%rip), %rax
	xorl	%edx, %edx
	vmovsd	.LC0(%rip), %xmm4
	vmovq	.LC3(%rip), %xmm3
	leaq	32768(%rax), %rsi
.L24:
	vmovsd	(%rax), %xmm2
	xorl	%ecx, %ecx
	vdivsd	%xmm0, %xmm2, %xmm2
	vsubsd	%xmm4, %xmm2, %xmm2
	vandpd	%xmm3, %xmm2, %xmm2
	vcomisd	%xmm1, %xmm2
	seta	%cl
	addq	$8, %rax
	addl	%ecx, %edx
	cmpq	%rax, %rsi
	jne	.L24
	movl	%edx, %eax
	ret
extremes:
	testl	%esi, %esi
	jle	.L36
	leaq	least(%rip), %rax
	movslq	%esi, %rsi
	leaq	most(%rip), %rcx
	leaq	sum(%rip), %rdx
	leaq	(%rax,%rsi,8), %rsi
.L32:
	addq	$8, %rax
	addq	$24, %rdi
	addq	$8, %rcx
	addq	$8, %rdx
	vmovsd	-24(%rdi), %xmm0
	vmovsd	-8(%rax), %xmm1
	vmovsd	-8(%rcx), %xmm2
	vaddsd	-8(%rdx), %xmm0, %xmm3
	vminsd	%xmm0, %xmm1, %xmm1
	vmaxsd	%xmm0, %xmm2, %xmm0
	vmovsd	%xmm3, -8(%rdx)
	vmovsd	%xmm1, -8(%rax)
	vmovsd	%xmm0, -8(%rcx)
	cmpq	%rsi, %rax
	jne	.L32
.L36:
	ret
least_step:
	leaq	a(%rip), %rdx
	vmovd	limit(%rip), %xmm2
	leaq	32760(%rdx), %rcx
.L38:
	vmovsd	8(%rdx), %xmm1
	vsubsd	(%rdx), %xmm1, %xmm1
	vpxor	%xmm3, %xmm3, %xmm3
	addq	$8, %rdx
	vmulsd	%xmm0, %xmm1, %xmm1
	vcvttsd2sil	%xmm1, %eax
	vmovd	%eax, %xmm1
	vpmaxsd	%xmm3, %xmm1, %xmm1
	vpminsd	%xmm1, %xmm2, %xmm2
	vmovd	%xmm2, %eax
	cmpq	%rdx, %rcx
	jne	.L38
	ret
divide_in_software:
	vpsubq	%ymm1, %ymm3, %ymm3
	vmovapd	%ymm3, %ymm4
	testl	%edi, %edi
	jle	.L40
	vmulpd	%ymm3, %ymm1, %ymm1
	xorl	%eax, %eax
	leaq	c(%rip), %rdx
	vsubpd	%ymm2, %ymm1, %ymm2
	vmulpd	%ymm3, %ymm2, %ymm1
	vsubpd	%ymm1, %ymm3, %ymm3
	vmulpd	%ymm2, %ymm2, %ymm1
	vmulpd	%ymm3, %ymm1, %ymm1
	vaddpd	%ymm3, %ymm1, %ymm1
.L42:
	vmulpd	%ymm1, %ymm0, %ymm0
	addl	$1, %eax
	vmovapd	%ymm4, (%rdx)
	cmpl	%eax, %edi
	jne	.L42
.L40:
	ret
divide_four:
	vmovapd	(%rdi), %ymm7
	vmovapd	32(%rdi), %ymm6
	vmovapd	64(%rdi), %ymm5
	vmovapd	96(%rdi), %ymm4
	testl	%esi, %esi
	jle	.L46
	xorl	%eax, %eax
.L47:
	vdivpd	%ymm0, %ymm7, %ymm7
	addl	$1, %eax
	vdivpd	%ymm1, %ymm6, %ymm6
	vdivpd	%ymm2, %ymm5, %ymm5
	vdivpd	%ymm3, %ymm4, %ymm4
	cmpl	%eax, %esi
	jne	.L47
.L46:
	vmovapd	%ymm7, (%rdi)
	vmovapd	%ymm6, 32(%rdi)
	vmovapd	%ymm5, 64(%rdi)
	vmovapd	%ymm4, 96(%rdi)
	ret
follow:
	testl	%edi, %edi
	jle	.L52
	xorl	%edx, %edx
	xorl	%eax, %eax
	leaq	ints(%rip), %rcx
.L51:
	addl	$1, %edx
	movslq	(%rcx,%rax,4), %rax
	cmpl	%edx, %edi
	jne	.L51
	ret
.L52:
	xorl	%eax, %eax
	ret
copy_longs:
	xorl	%eax, %eax
	leaq	to(%rip), %rsi
	leaq	from(%rip), %rcx
.L55:
	movq	(%rcx,%rax), %rdx
	movq	%rdx, (%rsi,%rax)
	addq	$8, %rax
	cmpq	$32768, %rax
	jne	.L55
	ret
fill_ints:
	testl	%edi, %edi
	jle	.L61
	leaq	ints(%rip), %rax
	movslq	%edi, %rdi
	leaq	(%rax,%rdi,4), %rdx
.L59:
	movl	$2, (%rax)
	addq	$4, %rax
	cmpq	%rdx, %rax
	jne	.L59
.L61:
	ret
limit:
ints:
to:
from:
most:
least:
sum:
c:
b:
a:
.LC0:
.LC1:
.LC3:
