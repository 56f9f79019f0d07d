#ifndef __INVDIFF_WINDOWS_H
#define __INVDIFF_WINDOWS_H
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
typedef int BOOL;
typedef int INT;
typedef int LONG;
typedef int INT32;
typedef int LONG32;
typedef int HRESULT;
typedef unsigned int UINT;
typedef unsigned int ULONG;
typedef unsigned int DWORD;
typedef unsigned int UINT32;
typedef unsigned int ULONG32;
typedef unsigned int DWORD32;
typedef unsigned int LCID;
typedef unsigned int COLORREF;
typedef unsigned int ACCESS_MASK;
typedef unsigned int REGSAM;
typedef unsigned int ALG_ID;
typedef char CHAR;
typedef char CCHAR;
typedef char TCHAR;
typedef signed char INT8;
typedef unsigned char BYTE;
typedef unsigned char UCHAR;
typedef unsigned char UINT8;
typedef unsigned char BOOLEAN;
typedef short SHORT;
typedef short INT16;
typedef unsigned short WORD;
typedef unsigned short USHORT;
typedef unsigned short UINT16;
typedef unsigned short ATOM;
typedef unsigned short LANGID;
typedef wchar_t WCHAR;
typedef float FLOAT;
typedef double DOUBLE;
typedef long long LONGLONG;
typedef long long LONG64;
typedef long long INT64;
typedef unsigned long long ULONGLONG;
typedef unsigned long long DWORDLONG;
typedef unsigned long long DWORD64;
typedef unsigned long long ULONG64;
typedef unsigned long long UINT64;
typedef __INTPTR_TYPE__ INT_PTR;
typedef __INTPTR_TYPE__ LONG_PTR;
typedef __INTPTR_TYPE__ SSIZE_T;
typedef __INTPTR_TYPE__ LPARAM;
typedef __INTPTR_TYPE__ LRESULT;
typedef __UINTPTR_TYPE__ UINT_PTR;
typedef __UINTPTR_TYPE__ ULONG_PTR;
typedef __UINTPTR_TYPE__ DWORD_PTR;
typedef __UINTPTR_TYPE__ SIZE_T;
typedef __UINTPTR_TYPE__ WPARAM;
typedef void *PVOID;
typedef void *PVOID64;
typedef void *LPVOID;
typedef const void *LPCVOID;
typedef char *LPSTR;
typedef char *PSTR;
typedef char *PCHAR;
typedef char *LPTSTR;
typedef char *PTSTR;
typedef const char *LPCSTR;
typedef const char *PCSTR;
typedef const char *LPCTSTR;
typedef const char *PCTSTR;
typedef wchar_t *LPWSTR;
typedef wchar_t *PWSTR;
typedef wchar_t *PWCHAR;
typedef const wchar_t *LPCWSTR;
typedef const wchar_t *PCWSTR;
typedef BOOL *PBOOL;
typedef BOOL *LPBOOL;
typedef BYTE *PBYTE;
typedef BYTE *LPBYTE;
typedef UCHAR *PUCHAR;
typedef BOOLEAN *PBOOLEAN;
typedef SHORT *PSHORT;
typedef WORD *PWORD;
typedef WORD *LPWORD;
typedef USHORT *PUSHORT;
typedef INT *PINT;
typedef INT *LPINT;
typedef UINT *PUINT;
typedef LONG *PLONG;
typedef LONG *LPLONG;
typedef ULONG *PULONG;
typedef DWORD *PDWORD;
typedef DWORD *LPDWORD;
typedef LONGLONG *PLONGLONG;
typedef ULONGLONG *PULONGLONG;
typedef LONG64 *PLONG64;
typedef ULONG64 *PULONG64;
typedef DWORD64 *PDWORD64;
typedef SIZE_T *PSIZE_T;
typedef ULONG_PTR *PULONG_PTR;
typedef DWORD_PTR *PDWORD_PTR;
typedef void *HANDLE;
typedef HANDLE *PHANDLE;
typedef HANDLE *LPHANDLE;
typedef void *HINSTANCE;
typedef void *HMODULE;
typedef void *HWND;
typedef void *HDC;
typedef void *HKEY;
typedef HKEY *PHKEY;
typedef void *HMENU;
typedef void *HICON;
typedef void *HCURSOR;
typedef void *HBRUSH;
typedef void *HFONT;
typedef void *HBITMAP;
typedef void *HGDIOBJ;
typedef void *HLOCAL;
typedef void *HGLOBAL;
typedef void *HRSRC;
typedef void *HKL;
typedef void *SC_HANDLE;
typedef void *SERVICE_STATUS_HANDLE;
typedef __INTPTR_TYPE__ (*FARPROC)();
typedef __INTPTR_TYPE__ (*PROC)();
typedef LRESULT (*WNDPROC)(HWND, UINT, WPARAM, LPARAM);
typedef DWORD (*LPTHREAD_START_ROUTINE)(LPVOID);
typedef DWORD (*PTHREAD_START_ROUTINE)(LPVOID);
struct _FILETIME { DWORD dwLowDateTime; DWORD dwHighDateTime; };
typedef struct _FILETIME FILETIME;
typedef FILETIME *PFILETIME;
typedef FILETIME *LPFILETIME;
struct _SYSTEMTIME { WORD wYear; WORD wMonth; WORD wDayOfWeek; WORD wDay; WORD wHour; WORD wMinute; WORD wSecond; WORD wMilliseconds; };
typedef struct _SYSTEMTIME SYSTEMTIME;
typedef SYSTEMTIME *PSYSTEMTIME;
typedef SYSTEMTIME *LPSYSTEMTIME;
struct _GUID { DWORD Data1; WORD Data2; WORD Data3; BYTE Data4[8]; };
typedef struct _GUID GUID;
typedef GUID IID;
typedef GUID CLSID;
typedef GUID *LPGUID;
typedef const GUID *LPCGUID;
struct _OVERLAPPED { ULONG_PTR Internal; ULONG_PTR InternalHigh; union { struct { DWORD Offset; DWORD OffsetHigh; }; PVOID Pointer; }; HANDLE hEvent; };
typedef struct _OVERLAPPED OVERLAPPED;
typedef OVERLAPPED *LPOVERLAPPED;
struct _SECURITY_ATTRIBUTES { DWORD nLength; LPVOID lpSecurityDescriptor; BOOL bInheritHandle; };
typedef struct _SECURITY_ATTRIBUTES SECURITY_ATTRIBUTES;
typedef SECURITY_ATTRIBUTES *PSECURITY_ATTRIBUTES;
typedef SECURITY_ATTRIBUTES *LPSECURITY_ATTRIBUTES;
struct tagPOINT { LONG x; LONG y; };
typedef struct tagPOINT POINT;
typedef POINT *PPOINT;
typedef POINT *LPPOINT;
struct tagSIZE { LONG cx; LONG cy; };
typedef struct tagSIZE SIZE;
struct tagRECT { LONG left; LONG top; LONG right; LONG bottom; };
typedef struct tagRECT RECT;
typedef RECT *PRECT;
typedef RECT *LPRECT;
struct _COORD { SHORT X; SHORT Y; };
typedef struct _COORD COORD;
struct _SMALL_RECT { SHORT Left; SHORT Top; SHORT Right; SHORT Bottom; };
typedef struct _SMALL_RECT SMALL_RECT;
struct _CONSOLE_SCREEN_BUFFER_INFO { COORD dwSize; COORD dwCursorPosition; WORD wAttributes; SMALL_RECT srWindow; COORD dwMaximumWindowSize; };
typedef struct _CONSOLE_SCREEN_BUFFER_INFO CONSOLE_SCREEN_BUFFER_INFO;
union _LARGE_INTEGER { struct { DWORD LowPart; LONG HighPart; }; struct { DWORD LowPart; LONG HighPart; } u; LONGLONG QuadPart; };
typedef union _LARGE_INTEGER LARGE_INTEGER;
typedef LARGE_INTEGER *PLARGE_INTEGER;
union _ULARGE_INTEGER { struct { DWORD LowPart; DWORD HighPart; }; struct { DWORD LowPart; DWORD HighPart; } u; ULONGLONG QuadPart; };
typedef union _ULARGE_INTEGER ULARGE_INTEGER;
typedef ULARGE_INTEGER *PULARGE_INTEGER;
struct _RTL_CRITICAL_SECTION { PVOID DebugInfo; LONG LockCount; LONG RecursionCount; HANDLE OwningThread; HANDLE LockSemaphore; ULONG_PTR SpinCount; };
typedef struct _RTL_CRITICAL_SECTION CRITICAL_SECTION;
typedef CRITICAL_SECTION *PCRITICAL_SECTION;
typedef CRITICAL_SECTION *LPCRITICAL_SECTION;
struct _PROCESS_INFORMATION { HANDLE hProcess; HANDLE hThread; DWORD dwProcessId; DWORD dwThreadId; };
typedef struct _PROCESS_INFORMATION PROCESS_INFORMATION;
typedef PROCESS_INFORMATION *LPPROCESS_INFORMATION;
struct _STARTUPINFOA { DWORD cb; LPSTR lpReserved; LPSTR lpDesktop; LPSTR lpTitle; DWORD dwX; DWORD dwY; DWORD dwXSize; DWORD dwYSize; DWORD dwXCountChars; DWORD dwYCountChars; DWORD dwFillAttribute; DWORD dwFlags; WORD wShowWindow; WORD cbReserved2; LPBYTE lpReserved2; HANDLE hStdInput; HANDLE hStdOutput; HANDLE hStdError; };
typedef struct _STARTUPINFOA STARTUPINFOA;
typedef struct _STARTUPINFOA STARTUPINFO;
struct _STARTUPINFOW { DWORD cb; LPWSTR lpReserved; LPWSTR lpDesktop; LPWSTR lpTitle; DWORD dwX; DWORD dwY; DWORD dwXSize; DWORD dwYSize; DWORD dwXCountChars; DWORD dwYCountChars; DWORD dwFillAttribute; DWORD dwFlags; WORD wShowWindow; WORD cbReserved2; LPBYTE lpReserved2; HANDLE hStdInput; HANDLE hStdOutput; HANDLE hStdError; };
typedef struct _STARTUPINFOW STARTUPINFOW;
struct _WIN32_FIND_DATAA { DWORD dwFileAttributes; FILETIME ftCreationTime; FILETIME ftLastAccessTime; FILETIME ftLastWriteTime; DWORD nFileSizeHigh; DWORD nFileSizeLow; DWORD dwReserved0; DWORD dwReserved1; CHAR cFileName[260]; CHAR cAlternateFileName[14]; };
typedef struct _WIN32_FIND_DATAA WIN32_FIND_DATAA;
typedef struct _WIN32_FIND_DATAA WIN32_FIND_DATA;
struct _WIN32_FIND_DATAW { DWORD dwFileAttributes; FILETIME ftCreationTime; FILETIME ftLastAccessTime; FILETIME ftLastWriteTime; DWORD nFileSizeHigh; DWORD nFileSizeLow; DWORD dwReserved0; DWORD dwReserved1; WCHAR cFileName[260]; WCHAR cAlternateFileName[14]; };
typedef struct _WIN32_FIND_DATAW WIN32_FIND_DATAW;
struct _BY_HANDLE_FILE_INFORMATION { DWORD dwFileAttributes; FILETIME ftCreationTime; FILETIME ftLastAccessTime; FILETIME ftLastWriteTime; DWORD dwVolumeSerialNumber; DWORD nFileSizeHigh; DWORD nFileSizeLow; DWORD nNumberOfLinks; DWORD nFileIndexHigh; DWORD nFileIndexLow; };
typedef struct _BY_HANDLE_FILE_INFORMATION BY_HANDLE_FILE_INFORMATION;
struct _WIN32_FILE_ATTRIBUTE_DATA { DWORD dwFileAttributes; FILETIME ftCreationTime; FILETIME ftLastAccessTime; FILETIME ftLastWriteTime; DWORD nFileSizeHigh; DWORD nFileSizeLow; };
typedef struct _WIN32_FILE_ATTRIBUTE_DATA WIN32_FILE_ATTRIBUTE_DATA;
typedef __UINTPTR_TYPE__ SOCKET;
#define WINAPI
#define WINAPIV
#define CALLBACK
#define APIENTRY
#define PASCAL
#define NTAPI
#define FAR
#define NEAR
#ifndef CONST
#define CONST const
#endif
#ifndef VOID
#define VOID void
#endif
#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
#endif
#define MAX_PATH 260
#define INFINITE 0xFFFFFFFFu
#define INVALID_HANDLE_VALUE ((HANDLE)(LONG_PTR)-1)
#define INVALID_FILE_ATTRIBUTES ((DWORD)-1)
#define INVALID_FILE_SIZE ((DWORD)0xFFFFFFFF)
#define INVALID_SET_FILE_POINTER ((DWORD)-1)
#define INVALID_SOCKET ((SOCKET)~0)
#define SOCKET_ERROR (-1)
#define WAIT_OBJECT_0 0u
#define WAIT_ABANDONED 0x80u
#define WAIT_TIMEOUT 258u
#define WAIT_FAILED 0xFFFFFFFFu
#define STILL_ACTIVE 259u
#define STD_INPUT_HANDLE ((DWORD)-10)
#define STD_OUTPUT_HANDLE ((DWORD)-11)
#define STD_ERROR_HANDLE ((DWORD)-12)
#define GENERIC_READ 0x80000000u
#define GENERIC_WRITE 0x40000000u
#define FILE_SHARE_READ 1u
#define FILE_SHARE_WRITE 2u
#define FILE_SHARE_DELETE 4u
#define CREATE_NEW 1
#define CREATE_ALWAYS 2
#define OPEN_EXISTING 3
#define OPEN_ALWAYS 4
#define TRUNCATE_EXISTING 5
#define FILE_BEGIN 0
#define FILE_CURRENT 1
#define FILE_END 2
#define FILE_TYPE_UNKNOWN 0
#define FILE_TYPE_DISK 1
#define FILE_TYPE_CHAR 2
#define FILE_TYPE_PIPE 3
#define FILE_ATTRIBUTE_READONLY 0x1
#define FILE_ATTRIBUTE_HIDDEN 0x2
#define FILE_ATTRIBUTE_SYSTEM 0x4
#define FILE_ATTRIBUTE_DIRECTORY 0x10
#define FILE_ATTRIBUTE_ARCHIVE 0x20
#define FILE_ATTRIBUTE_NORMAL 0x80
#define FILE_ATTRIBUTE_TEMPORARY 0x100
#define FILE_ATTRIBUTE_REPARSE_POINT 0x400
#define FILE_FLAG_OVERLAPPED 0x40000000
#define FILE_FLAG_BACKUP_SEMANTICS 0x02000000
#define FILE_FLAG_DELETE_ON_CLOSE 0x04000000
#define ERROR_SUCCESS 0
#define NO_ERROR 0
#define ERROR_FILE_NOT_FOUND 2
#define ERROR_PATH_NOT_FOUND 3
#define ERROR_ACCESS_DENIED 5
#define ERROR_INVALID_HANDLE 6
#define ERROR_NOT_ENOUGH_MEMORY 8
#define ERROR_OUTOFMEMORY 14
#define ERROR_NO_MORE_FILES 18
#define ERROR_SHARING_VIOLATION 32
#define ERROR_LOCK_VIOLATION 33
#define ERROR_HANDLE_EOF 38
#define ERROR_NOT_SUPPORTED 50
#define ERROR_FILE_EXISTS 80
#define ERROR_INVALID_PARAMETER 87
#define ERROR_BROKEN_PIPE 109
#define ERROR_DISK_FULL 112
#define ERROR_SEM_TIMEOUT 121
#define ERROR_INSUFFICIENT_BUFFER 122
#define ERROR_DIR_NOT_EMPTY 145
#define ERROR_ALREADY_EXISTS 183
#define ERROR_PIPE_BUSY 231
#define ERROR_NO_DATA 232
#define ERROR_MORE_DATA 234
#define ERROR_OPERATION_ABORTED 995
#define ERROR_IO_INCOMPLETE 996
#define ERROR_IO_PENDING 997
#define ERROR_NOT_FOUND 1168
#define S_OK 0
#define S_FALSE 1
#define MAKEWORD(a, b) ((WORD)(((BYTE)(a)) | ((WORD)((BYTE)(b))) << 8))
#define MAKELONG(a, b) ((LONG)(((WORD)(a)) | ((DWORD)((WORD)(b))) << 16))
#define LOWORD(l) ((WORD)((DWORD_PTR)(l) & 0xffff))
#define HIWORD(l) ((WORD)(((DWORD_PTR)(l) >> 16) & 0xffff))
#define LOBYTE(w) ((BYTE)((DWORD_PTR)(w) & 0xff))
#define HIBYTE(w) ((BYTE)(((DWORD_PTR)(w) >> 8) & 0xff))
#define SUCCEEDED(hr) ((HRESULT)(hr) >= 0)
#define FAILED(hr) ((HRESULT)(hr) < 0)
#define ZeroMemory(p, n) memset((p), 0, (n))
#define CopyMemory(d, s, n) memcpy((d), (s), (n))
#define MoveMemory(d, s, n) memmove((d), (s), (n))
#define FillMemory(p, n, c) memset((p), (c), (n))
#define CreateFile CreateFileA
#define CreateEvent CreateEventA
#define CreateMutex CreateMutexA
#define CreateSemaphore CreateSemaphoreA
#define LoadLibrary LoadLibraryA
#define GetModuleHandle GetModuleHandleA
#define FindFirstFile FindFirstFileA
HANDLE CreateFileA(LPCSTR, DWORD, DWORD, LPSECURITY_ATTRIBUTES, DWORD, DWORD, HANDLE);
HANDLE CreateFileW(LPCWSTR, DWORD, DWORD, LPSECURITY_ATTRIBUTES, DWORD, DWORD, HANDLE);
HANDLE CreateEventA(LPSECURITY_ATTRIBUTES, BOOL, BOOL, LPCSTR);
HANDLE CreateEventW(LPSECURITY_ATTRIBUTES, BOOL, BOOL, LPCWSTR);
HANDLE CreateMutexA(LPSECURITY_ATTRIBUTES, BOOL, LPCSTR);
HANDLE CreateMutexW(LPSECURITY_ATTRIBUTES, BOOL, LPCWSTR);
HANDLE CreateSemaphoreA(LPSECURITY_ATTRIBUTES, LONG, LONG, LPCSTR);
HANDLE CreateSemaphoreW(LPSECURITY_ATTRIBUTES, LONG, LONG, LPCWSTR);
HANDLE CreateThread(LPSECURITY_ATTRIBUTES, SIZE_T, LPTHREAD_START_ROUTINE, LPVOID, DWORD, LPDWORD);
HANDLE CreateIoCompletionPort(HANDLE, HANDLE, ULONG_PTR, DWORD);
HANDLE FindFirstFileA(LPCSTR, WIN32_FIND_DATAA *);
HANDLE FindFirstFileW(LPCWSTR, WIN32_FIND_DATAW *);
HANDLE GetCurrentProcess(void);
HANDLE GetCurrentThread(void);
HANDLE GetProcessHeap(void);
HANDLE GetStdHandle(DWORD);
HANDLE OpenProcess(DWORD, BOOL, DWORD);
HMODULE LoadLibraryA(LPCSTR);
HMODULE LoadLibraryW(LPCWSTR);
HMODULE GetModuleHandleA(LPCSTR);
HMODULE GetModuleHandleW(LPCWSTR);
FARPROC GetProcAddress(HMODULE, LPCSTR);
LPVOID HeapAlloc(HANDLE, DWORD, SIZE_T);
LPVOID HeapReAlloc(HANDLE, DWORD, LPVOID, SIZE_T);
LPVOID VirtualAlloc(LPVOID, SIZE_T, DWORD, DWORD);
LPVOID MapViewOfFile(HANDLE, DWORD, DWORD, DWORD, SIZE_T);
HLOCAL LocalAlloc(UINT, SIZE_T);
HLOCAL LocalFree(HLOCAL);
HGLOBAL GlobalAlloc(UINT, SIZE_T);
HGLOBAL GlobalFree(HGLOBAL);
LPSTR GetCommandLineA(void);
LPWSTR GetCommandLineW(void);
DWORD GetLastError(void);
DWORD GetTickCount(void);
DWORD GetCurrentProcessId(void);
DWORD GetCurrentThreadId(void);
DWORD WaitForSingleObject(HANDLE, DWORD);
DWORD GetFileAttributesA(LPCSTR);
DWORD GetFileAttributesW(LPCWSTR);
ULONGLONG GetTickCount64(void);
void SetLastError(DWORD);
void Sleep(DWORD);
BOOL CloseHandle(HANDLE);
BOOL FreeLibrary(HMODULE);
BOOL FindClose(HANDLE);
BOOL HeapFree(HANDLE, DWORD, LPVOID);
BOOL ReadFile(HANDLE, LPVOID, DWORD, LPDWORD, LPOVERLAPPED);
BOOL WriteFile(HANDLE, LPCVOID, DWORD, LPDWORD, LPOVERLAPPED);
BOOL SetEvent(HANDLE);
BOOL ResetEvent(HANDLE);
BOOL DeviceIoControl(HANDLE, DWORD, LPVOID, DWORD, LPVOID, DWORD, LPDWORD, LPOVERLAPPED);
#endif
