package org.ddstore.contract;

interface LifetimeContract extends Contract {}
