#include <math.h>
#include <stdio.h>

/* Area of the triangle with base b and height h. */
static float area(float b, float h)
{
	float r = fabsf(0.5f * b * h);

	return r;
}

int main(void)
{
	float b, h;

	if (scanf("%f %f", &b, &h) != 2)
		return 1;
	printf("%.1f\n", area(b, h));
	return 0;
}
