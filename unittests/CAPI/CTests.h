/*===- CTests.h - tests that are written in C --------------------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                       */
/*                                                                               */
/* Each gives NULL, or the place and the text of what did not hold. CTests.cpp   */
/* runs them.                                                                    */
/*===-------------------------------------------------------------------------===*/
#ifndef FT_UNITTESTS_CAPI_CTESTS_H
#define FT_UNITTESTS_CAPI_CTESTS_H

#ifdef __cplusplus
extern "C" {
#endif

/* DialectsC.c */
const char *testLengths(void);
const char *testListTypes(void);
const char *testOtherAttributes(void);
const char *testBuffers(void);
const char *testAccesses(void);
const char *testSchedules(void);
const char *testMutableTensors(void);
/* PassesC.c */
const char *testEachPassIsMade(void);
const char *testPipelineByText(void);
const char *testPassesByFunction(void);
const char *testWrongPipeline(void);
/* ModuleC.c */
const char *testBuiltModule(void);
const char *testModuleOfAnotherDialect(void);
const char *testInvalidModule(void);
/* PortableC.c */
const char *testPortableTable(void);

#ifdef __cplusplus
}
#endif

#define FT_STRING_(x) #x
#define FT_STRING(x) FT_STRING_(x)
#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition))                                                                                                  \
      return __FILE__ ":" FT_STRING(__LINE__) ": " #condition;                                                         \
  } while (0)

#endif /* FT_UNITTESTS_CAPI_CTESTS_H */
