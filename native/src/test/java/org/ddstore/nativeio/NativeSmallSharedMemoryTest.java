// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import org.ddstore.contract.SmallSharedMemoryTest;

/** The same with space that is reserved before it is written. */
class NativeSmallSharedMemoryTest extends SmallSharedMemoryTest {}
