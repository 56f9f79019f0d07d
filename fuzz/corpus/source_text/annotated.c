/*@ requires n >= 0;
  @ ensures \result >= 0; */
static int f(int n)
{
	//@ assert n >= 0;
	/*@ assert n < 10 &&
	  @   n != 3;
	    loop invariant n; */
	char *s = "/*@ no */ \" '", c = '\'';
	return n; /* plain */
}
#define TWICE(x) \
	((x) * 2)
int g(void) { return TWICE(f(1)); }
