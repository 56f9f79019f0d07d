#include <stdio.h>
#include "a.h"
#define MAX(a, b) ((a) > (b) ? (a) : (b))
struct node { struct node *next; unsigned flag : 3; char text[8]; };
static int table[] = { 1, TWO, [4] = 5 };
/*@ requires n >= 0; ensures \result >= 0; */
int sum(const int *a, int n)
{
	int s = 0;
	for (int i = 0; i < n; i++) {
		if (a[i] < 0)
			continue;
		s += MAX(a[i], table[i % 5]);
	}
	switch (s & 3) { case 0: return s; default: break; }
	return from_header(s) ? s : -1;
}
int main(void)
{
	struct node n = { 0, 1, "x" };
	double d;
	if (scanf("%lf", &d) != 1)
		return 1;
	printf("%d %.2f\n", sum(table, 5) + (int)n.flag, d);
	return 0;
}
