#include <math.h>
#include <stdio.h>

/* Area of the triangle with base b and height h. */
static float area(float b, float h)
{
	float r = 0.5f * b * h;

	return r;
}

int main(void)
{
	float b, h;

	scanf("%f %f", &b, &h);
	printf("%.1f\n", area(b, h));
	return 0;
}
