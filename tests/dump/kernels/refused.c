/* Which iterations run depends on data: nothing to model. */
int first(int n, const int key[restrict n], int wanted, int found)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        if (key[i] == wanted)
            goto out;
        found += 1;
    }
out:;
#pragma endscop
    return found;
}
