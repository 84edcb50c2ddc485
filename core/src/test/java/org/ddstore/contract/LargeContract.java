package org.ddstore.contract;

interface LargeContract extends Contract {}
