// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;

/** Reads memory by its address, as code outside this project would. */
final class RawBytes {
  private static final MethodHandle GET_BYTE;

  static {
    try {
      Class<?> type = Class.forName("sun.misc.Unsafe");
      Field instance = type.getDeclaredField("theUnsafe");
      instance.setAccessible(true);
      GET_BYTE =
          MethodHandles.publicLookup()
              .unreflect(type.getMethod("getByte", long.class))
              .bindTo(instance.get(null));
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private RawBytes() {}

  static byte[] at(long address, int length) {
    byte[] bytes = new byte[length];
    try {
      for (int i = 0; i < length; i++) {
        bytes[i] = (byte) GET_BYTE.invokeExact(address + i);
      }
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
    return bytes;
  }
}
