// SPDX-License-Identifier: Apache-2.0
/** Off-heap memory and segments: allocation, mapping, files and release. */
@Internal
package org.ddstore.memory;

import org.ddstore.types.Internal;
