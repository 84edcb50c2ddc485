// SPDX-License-Identifier: Apache-2.0
/** Arrays in the IDX format, as MNIST has them. */
@Internal
package org.ddstore.formats.idx;

import org.ddstore.types.Internal;
